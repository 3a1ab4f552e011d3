import { describeSqlTraffic } from './sql-traffic.js'

describeSqlTraffic({ processes: 4, decisions: 3000, callers: 40, stormMs: 1000 })
