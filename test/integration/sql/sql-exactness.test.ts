import { describeSqlExactness } from './sql-exactness.js'

describeSqlExactness('sample')
