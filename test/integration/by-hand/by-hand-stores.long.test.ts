import { describeByHand } from './by-hand-stores.js'

describeByHand('Redis Cluster', 'MariaDB')
