import { describeLostConnections } from './sql-lost-connections.js'

describeLostConnections({ callers: 10, restMs: 10, killingMs: 1000, everyMs: 200, aroundMs: 700 })
