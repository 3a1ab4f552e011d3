import { describeDynamodbExactness } from './exactness.js'

jest.setTimeout(600_000)

describeDynamodbExactness('all')
