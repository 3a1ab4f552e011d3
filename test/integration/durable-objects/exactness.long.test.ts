import { describeObjectsExactness } from './exactness.js'

describeObjectsExactness('all')
