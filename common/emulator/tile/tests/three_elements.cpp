// Does not compile, and says why: the test wants its sentence.
#include <cuda_tile.h>

cuda::tiles::tile<float, cuda::tiles::shape<3>> three;
