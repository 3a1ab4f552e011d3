import { describeNeighbors } from './describe-neighbors.js'
import { VARIANTS } from './variants.js'

describeNeighbors(VARIANTS)
