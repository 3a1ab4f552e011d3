import { describeOutage } from './outage.js'

describeOutage('Redis whose replies are swallowed', 'Redis that refuses connections')
