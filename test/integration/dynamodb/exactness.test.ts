import { describeDynamodbExactness } from './exactness.js'

describeDynamodbExactness('sample')
