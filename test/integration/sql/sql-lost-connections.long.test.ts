import { describeLostConnections } from './sql-lost-connections.js'

describeLostConnections({ callers: 40, restMs: 0, killingMs: 3500, everyMs: 100, aroundMs: 2000 })
