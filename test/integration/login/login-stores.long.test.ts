import { STORES } from '../store-kinds.js'
import { describeGuard } from './login-stores.js'

for (const store of STORES) if (store.name !== 'Redis') describeGuard(store, 'all')
