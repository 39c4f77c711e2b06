"""VGG with 16 layers: Simonyan and Zisserman, arXiv:1409.1556, configuration D."""


def vgg16(net, x):
    for filters, layers in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(layers):
            x = net.conv(x, filters, 3)
        x = net.pool(x, 2, 2)
    for _ in range(2):
        x = net.dropout(net.affine(x, 4096))
    return x
