import { describeFailover } from './sentinel-failover.js'

describeFailover('redis 6')
describeFailover('redis 5')
