"""Inception v3 without the auxiliary classifier: Szegedy et al., arXiv:1512.00567."""


def _chain(net, x, *convolutions):
    for filters, size, *rest in convolutions:
        x = net.conv(x, filters, size, *rest, norm=True)
    return x


def _narrow(net, x):  # 3x3 to the next grid, without padding
    return net.pool(x, 3, 2)


def _averaged(net, x, filters):
    return net.conv(net.pool(x, 3, 1, "average", "SAME"), filters, 1, norm=True)


def _grid35(net, x, filters):
    return net.concat([_chain(net, x, (64, 1)), _chain(net, x, (48, 1), (64, 5)),
                       _chain(net, x, (64, 1), (96, 3), (96, 3)), _averaged(net, x, filters)])


def _to17(net, x):
    return net.concat([_chain(net, x, (384, 3, 2, "VALID")),
                       _chain(net, x, (64, 1), (96, 3), (96, 3, 2, "VALID")), _narrow(net, x)])


def _grid17(net, x, n):
    row, column = (1, 7), (7, 1)
    return net.concat([_chain(net, x, (192, 1)), _chain(net, x, (n, 1), (n, row), (192, column)),
                       _chain(net, x, (n, 1), (n, column), (n, row), (n, column), (192, row)),
                       _averaged(net, x, 192)])


def _to8(net, x):
    return net.concat([_chain(net, x, (192, 1), (320, 3, 2, "VALID")),
                       _chain(net, x, (192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, 2, "VALID")), _narrow(net, x)])


def _grid8(net, x, pooling):
    wide = _chain(net, x, (384, 1))
    deep = _chain(net, x, (448, 1), (384, 3))
    pooled = net.conv(net.pool(x, 3, 1, pooling, "SAME"), 192, 1, norm=True)
    split = [_chain(net, branch, (384, size)) for branch in (wide, deep) for size in ((1, 3), (3, 1))]
    return net.concat([_chain(net, x, (320, 1)), *split, pooled])


def inception3(net, x):
    x = _chain(net, x, (32, 3, 2, "VALID"), (32, 3, 1, "VALID"), (64, 3))
    x = _chain(net, _narrow(net, x), (80, 1), (192, 3, 1, "VALID"))
    x = _narrow(net, x)
    for filters in (32, 64, 64):
        x = _grid35(net, x, filters)
    x = _to17(net, x)
    for n in (128, 160, 160, 192):
        x = _grid17(net, x, n)
    x = _to8(net, x)
    for pooling in ("average", "max"):
        x = _grid8(net, x, pooling)
    return net.global_average(x)
