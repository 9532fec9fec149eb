print half
print part[threadIdx.x]
next
next
next
next
print half
print part[threadIdx.x]
print blockDim
print sum
