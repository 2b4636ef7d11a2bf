"""The API's types, and what is generated from them: CRDs and structural schemas."""
