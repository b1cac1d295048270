"""The ledger of the files that were read: how far each was read, and which lines the warehouse holds."""
