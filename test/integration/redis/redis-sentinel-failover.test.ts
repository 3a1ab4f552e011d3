import { describeFailover } from './sentinel-failover.js'

describeFailover('ioredis 6')
