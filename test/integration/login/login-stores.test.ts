import { kindsNamed } from '../store-kinds.js'
import { describeGuard } from './login-stores.js'

for (const store of kindsNamed('Redis')) describeGuard(store, 'all')
for (const store of kindsNamed('memcached')) describeGuard(store, 'sample')
