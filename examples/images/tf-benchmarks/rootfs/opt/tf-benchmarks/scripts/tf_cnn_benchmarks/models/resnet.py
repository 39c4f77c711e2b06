"""Residual networks with bottlenecks: He et al., arXiv:1512.03385, stride in the 1x1 convolution as published (v1)."""


def _bottleneck(net, x, depth, stride):
    inner = depth // 4
    if x.channels == depth:
        shortcut = x
    else:
        shortcut = net.conv(x, depth, 1, stride, norm=True, relu=False)
    y = net.conv(x, inner, 1, stride, norm=True)
    y = net.conv(y, inner, 3, norm=True)
    y = net.conv(y, depth, 1, norm=True, relu=False)
    return net.relu(net.add(y, shortcut))


def layers(blocks):
    def build(net, x):
        x = net.conv(net.pad(x, 3), 64, 7, 2, "VALID", norm=True)
        x = net.pool(x, 3, 2, padding="SAME")
        for stage, count in enumerate(blocks):
            for block in range(count):
                x = _bottleneck(net, x, 256 << stage, 2 if stage and not block else 1)
        return net.global_average(x)
    return build
