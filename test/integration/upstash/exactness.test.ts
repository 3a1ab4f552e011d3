import { describeUpstashExactness } from './exactness.js'

describeUpstashExactness('sample')
