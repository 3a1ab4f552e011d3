import { describeSqlTraffic } from './sql-traffic.js'

describeSqlTraffic({ processes: 2, decisions: 1200, callers: 20, stormMs: 400 })
