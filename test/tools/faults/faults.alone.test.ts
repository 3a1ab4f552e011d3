import { describeFaults, faultsOf } from './describe-faults.js'
import { redis } from './redis-scenes.js'

// Redis is killed and frozen here; the other faults, and the other stores, are in `npm run test:long`.
describeFaults('redis', redis, faultsOf('redis', 1).slice(0, 2))
