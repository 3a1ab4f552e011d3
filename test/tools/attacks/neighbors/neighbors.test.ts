import { SITE_ATTACKS } from '../adapters/attacks.js'
import { describeNeighbors } from './describe-neighbors.js'
import { VARIANTS } from './variants.js'

describeNeighbors(
  VARIANTS.filter(({ isShort }) => isShort),
  SITE_ATTACKS.filter(({ name }) => name === '/forgot'),
)
