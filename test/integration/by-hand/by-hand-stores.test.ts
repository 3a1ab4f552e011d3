import { describeByHand } from './by-hand-stores.js'

describeByHand('memory', 'Redis', 'memcached', 'PostgreSQL')
