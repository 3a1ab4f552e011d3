import { describeConformance } from './conformance.js'
import { openGlide } from './glide.js'
import { useRedis } from './use-redis.js'

const redis = useRedis()
describeConformance('redisStore with Valkey GLIDE', () => redis.server.url, openGlide, 'sample')
