import { describeAdjustments } from './adjustment-stores.js'

describeAdjustments('Redis Cluster', 'MariaDB')
