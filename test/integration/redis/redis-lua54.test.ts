import { describeLua54 } from './redis-lua54.js'

describeLua54(16)
