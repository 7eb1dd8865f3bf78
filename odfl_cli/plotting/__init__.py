"""From the files of runs to figures: reads files and nothing else."""
