from .report.selection.stored_runs import load_runs as load_runs

__all__ = ["load_runs"]
