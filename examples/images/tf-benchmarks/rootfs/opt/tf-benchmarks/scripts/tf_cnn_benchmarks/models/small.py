"""trivial: nearly nothing but a large output layer. lenet: LeCun et al. 1998. alexnet: Krizhevsky 2014, one tower."""


def trivial(net, x):
    return net.affine(net.affine(x, 1), 4096)


def lenet(net, x):
    x = net.pool(net.conv(x, 32, 5), 2, 2)
    x = net.pool(net.conv(x, 64, 5), 2, 2)
    return net.affine(x, 512)


def alexnet(net, x):
    x = net.pool(net.conv(x, 64, 11, 4, "VALID"), 3, 2)
    x = net.pool(net.conv(x, 192, 5), 3, 2)
    for filters in (384, 384, 256):
        x = net.conv(x, filters, 3)
    x = net.pool(x, 3, 2)
    for _ in range(2):
        x = net.dropout(net.affine(x, 4096))
    return x
