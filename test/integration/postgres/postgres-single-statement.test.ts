import { describeSingleStatement } from './postgres-single-statement.js'

describeSingleStatement({ traces: 50 })
