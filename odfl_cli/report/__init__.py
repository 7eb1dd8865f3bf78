"""One self-contained HTML page that tells what runs found: reads files and nothing else."""
