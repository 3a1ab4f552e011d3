import { describeOutage } from './outage.js'

describeOutage(
  'Redis that swallows requests and replies',
  'memcached that swallows requests and replies',
  'PostgreSQL that is killed and restarted',
)
