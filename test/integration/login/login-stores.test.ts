import { STORES } from '../store-kinds.js'
import { describeGuard } from './login-stores.js'

/** The others have a sample here, and all tests in `npm run test:long`. */
const IN_FULL = ['memory', 'Redis', 'memcached']

for (const store of STORES) describeGuard(store, IN_FULL.includes(store.name) ? 'all' : 'sample')
