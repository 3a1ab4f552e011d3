import { describeSqlConformance } from './sql-conformance.js'

describeSqlConformance('all')
