import { SENTINEL_DRIVERS } from './sentinel-drivers.js'
import { describeFailover } from './sentinel-failover.js'

for (const driver of SENTINEL_DRIVERS) describeFailover(driver)
