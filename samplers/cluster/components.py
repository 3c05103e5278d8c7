"""Connected components of many graphs on the same sites at once."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from targets.compiling.tracing import is_traced


def components(edges: Tensor, active: Tensor, sites: int) -> Tensor:
    """The smallest site of the component of each site, ``(*batch, sites)``, int64.

    On the CPU by SciPy, in time proportional to sites and edges; on other devices and in a traced step by
    `hooked_components`, which does not wait for the host.

    Args:
        edges: pairs of sites, ``(E, 2)``, int64.
        active: which of them a graph has, ``(*batch, E)``, bool.
    """
    if active.device.type != "cpu" or is_traced():
        return hooked_components(edges, active, sites)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    batch = active.shape[:-1]
    graph, edge = active.reshape(batch.numel(), len(edges)).numpy().nonzero()
    ends = edges.numpy()[edge] + sites * graph[:, None]
    number = batch.numel() * sites
    matrix = coo_array((np.ones(len(ends), dtype=bool), (ends[:, 0], ends[:, 1])), shape=(number, number))
    _, labels = connected_components(matrix, directed=False)
    first = np.empty(number, dtype=np.int64)
    first[labels[::-1]] = np.arange(number)[::-1]
    return torch.from_numpy(first[labels] % sites).reshape(*batch, sites)


def hooked_components(edges: Tensor, active: Tensor, sites: int) -> Tensor:
    """The same by a fixed number of operations on tensors, of the order of the square of log2(sites).

    Every round hooks each root to the smallest root that an edge joins it to, if that is smaller, and then
    halves paths until all sites point at roots. A root that is smaller than all it is joined to, and that
    none hooks to, is joined to a smaller one after the round; so after two rounds every root of a component
    that is not complete has taken in another one, and their number has halved.
    """
    depth = max(1, (sites - 1).bit_length())
    one, other = edges[:, 0].expand(active.shape), edges[:, 1].expand(active.shape)
    root = torch.arange(sites, device=active.device).expand(*active.shape[:-1], sites).contiguous()
    for _ in range(2 * depth):
        a, b = root.gather(-1, one), root.gather(-1, other)
        low, high = torch.minimum(a, b), torch.maximum(a, b)
        root = root.scatter_reduce(-1, high, torch.where(active, low, high), "amin")
        for _ in range(depth):
            root = root.gather(-1, root)
    return root
