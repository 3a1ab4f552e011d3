import { describeUpstashExactness } from './exactness.js'

describeUpstashExactness('sample', 2, 20)
