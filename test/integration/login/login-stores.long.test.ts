import { STORES } from '../store-kinds.js'
import { describeGuard } from './login-stores.js'

const OTHERS = ['Redis Cluster', 'MariaDB', 'PostgreSQL']

for (const store of STORES) if (OTHERS.includes(store.name)) describeGuard(store, 'all')
