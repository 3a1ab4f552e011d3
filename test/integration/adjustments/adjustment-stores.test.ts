import { describeAdjustments } from './adjustment-stores.js'

describeAdjustments('memory', 'Redis', 'memcached', 'PostgreSQL')
