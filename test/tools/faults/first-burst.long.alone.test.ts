import { describeFirstBursts } from './first-burst.js'

describeFirstBursts(['memcached', 'PostgreSQL'])
