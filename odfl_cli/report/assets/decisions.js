"use strict";
// Which item was played when, beside the best one; only where runs logged it.

function renderDecisions() {}
