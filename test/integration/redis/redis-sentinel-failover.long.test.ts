import { OLDER_SENTINEL_DRIVERS } from './sentinel-drivers.js'
import { describeFailover } from './sentinel-failover.js'

for (const driver of OLDER_SENTINEL_DRIVERS) describeFailover(driver)
