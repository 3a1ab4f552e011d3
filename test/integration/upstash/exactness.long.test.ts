import { describeUpstashExactness } from './exactness.js'

describeUpstashExactness('all', 4, 50)
