"""Generated code under the compiler's sanitizers: memory, undefined behaviour, data races.

    python -m minductor.tools.sanitize                      # all sanitizers, all programs
    python -m minductor.tools.sanitize --kinds thread --programs softmax,index_put
    python -m minductor.tools.sanitize --fuzz 50            # and random programs
    python -m minductor.tools.sanitize --device cuda        # compute-sanitizer on a GPU

Programs run in child processes whose kernels are built with the sanitizer's flags. Each result is
compared with eager. Before a sanitizer is believed it has to find a fault planted in a kernel.
"""
