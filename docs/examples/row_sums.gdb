print half
print part[threadIdx.x + half]
