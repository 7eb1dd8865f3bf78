"""An algorithm in a loop of one's own: predict, learn, save, continue."""
