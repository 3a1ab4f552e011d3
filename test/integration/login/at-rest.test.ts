import { describeAtRest } from './at-rest.js'

describeAtRest('memory', 'Redis', 'memcached')
