"""Reading what runs wrote: files and nothing else."""
