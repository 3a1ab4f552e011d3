import { describeCosts } from './redis-costs.js'

describeCosts('sample')
