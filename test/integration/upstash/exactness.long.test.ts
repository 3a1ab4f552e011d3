import { describeUpstashExactness } from './exactness.js'

describeUpstashExactness('all')
