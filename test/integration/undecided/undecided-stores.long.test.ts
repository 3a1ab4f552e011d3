import { STORES } from '../store-kinds.js'
import { describeUndecided } from './undecided-stores.js'

for (const store of STORES) if (store.name !== 'memory' && store.name !== 'Redis') describeUndecided(store)
