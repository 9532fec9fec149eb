// Must not compile: the test expects its error message.
#include <cuda_tile.h>

cuda::tiles::tile<float, cuda::tiles::shape<3>> three;
